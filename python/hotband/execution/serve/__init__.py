"""A modelled machine as a block device on the wall clock: programs use it as they use a drive
(docs/guides/serve.md). What runs answer names modules here, so that the package itself loads none of them."""
