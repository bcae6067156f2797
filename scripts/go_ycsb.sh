#!/bin/sh
# Builds go-ycsb into the folder that is given. By `go get` of a version: `go install ...@latest` asks the proxy for a
# list of versions, which it refuses.
set -eu
into=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
go mod init hotband.local/programs 2>/dev/null
go get github.com/pingcap/go-ycsb/cmd/go-ycsb@v1.0.1
go build -o "$work/go-ycsb" github.com/pingcap/go-ycsb/cmd/go-ycsb
mv "$work/go-ycsb" "$into/go-ycsb"
