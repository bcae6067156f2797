"""The ends of all commands: a mistake is one line on stderr and exit code 2, an interruption exit code 130; if the
system fails (a full device, an I/O error), the exit code is 74, as in sysexits.h.

Errors of typer (an unknown option, a number out of range) are converted to the same form, without boxes.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hotband.base.errors import UserError, no_text, reason_of
from hotband.base.foreign import shortened
from hotband.base.text.formats import FORMATS, begin
from hotband.base.text.write import is_mistake
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.signals import (
    INTERRUPTED,
    exit_code,
    forget_interrupts,
    settle_interrupts,
    was_interrupted,
)
from hotband.faces.commands import slips
from hotband.faces.commands.on_demand import OnDemand, plain_epilog
from hotband.faces.commands.output import finish, say
from hotband.faces.commands.values import keep_simple
from hotband.faces.renamed import with_current_options

LONGEST = 1000
"""Longest printed message of typer in characters: it repeats its input, and the longest list of options takes 700."""

SELDOM = (20_000, 50, 10)
"""Thresholds of the garbage collector in a process of ours: a command builds many objects, few of them in cycles. With
those of Python (700, 10, 10) it took a sixth of the time of a hundred short runs."""


class Commands(TyperGroup):
    """A group of commands whose errors are one line each; an option with a single value is refused if it is
    repeated."""

    def main(self, args: Sequence[str] | None = None, standalone_mode: bool = True, **extra: Any) -> Any:  # type: ignore[override]
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        gc.set_threshold(*SELDOM)
        code = self._ended(args, **extra)
        sys.exit(exit_code() if code == INTERRUPTED else code)

    def _ended(self, args: Sequence[str] | None, **extra: Any) -> int:
        """Run the command; return its exit code."""
        begin()
        forget_interrupts()
        try:
            try:
                code = super().main(args, standalone_mode=False, **extra)
                finish()
            finally:
                sys.stdout.flush()
        except UserError as error:
            return of_request() if was_interrupted() else refused(str(error.worded(option)))
        except RunsInterrupted as stop:
            folders = [str(run.spec.out) for run in stop.finished if run.spec.out is not None]
            where = f"; stored in {Path(folders[0]).parent}: the same command continues from there" if folders else ""
            say(f"hotband: interrupted; {len(stop.finished)} runs were finished{where}")
            return INTERRUPTED
        except (_Stopped, KeyboardInterrupt):
            return of_request()
        except BrokenPipeError:
            leave_stdout()
            return 0
        except SystemExit as end:
            return without_reader(end)
        except UnicodeEncodeError as error:
            return refused(str(no_text("arguments", error.object)))
        except OSError as error:
            # All other files that are read or written have a name.
            if error.filename is None:
                leave_stdout()
            where = "standard output" if error.filename is None else shortened(str(error.filename), LONGEST)
            say(f"hotband: error: {where}: {reason_of(error)}")
            return 2 if is_mistake(error) else os.EX_IOERR
        except Exception as error:
            return of_library(error)
        finally:
            settle_interrupts()
        code = code if isinstance(code, int) else 0
        # A library swallowed the KeyboardInterrupt, so its result cannot be trusted.
        return of_request() if was_interrupted() and code != INTERRUPTED else code

    def invoke(self, ctx: Any) -> Any:
        """Raise an interruption that typer would end silently. A mistake names the options of the command that found
        it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Stopped from None
        except UserError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand) if ctx.invoked_subcommand else None
            if command is None or hasattr(command, "commands"):
                raise
            meant = error.worded(partial(parameter, command))
            if meant.value == "True" and meant.where.startswith("--"):
                meant.value = ""  # A flag has no value.
            raise meant from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        command = self.get_command(ctx, args[0]) if args else None
        if command is None and args and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise slips.unknown_command(ctx.command_path, args[0], self.list_commands(ctx), ctx.parent is None)
        if command is not None and not ctx.resilient_parsing:
            args = [args[0], *corrected(command, args[1:])]
            form = refuse_slips(command, ctx, args[1:])
            if form is not None:
                begin(form)
                args = [args[0], "--json", *args[1:]] if form == "json" else args
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command. If it prints data as JSON and declares no option `--format`, it gets that option for its
        tables."""
        command = super().get_command(ctx, cmd_name)
        names = [param.name for param in command.params] if command is not None else []
        taken = {option for param in command.params for option in param.opts} if command is not None else ()
        if command is not None and "as_json" in names and "--format" not in taken:
            position = names.index("as_json")
            command.params.insert(position, format_option())
        if command is not None:
            keep_simple(command.get_params(ctx))
            in_plain_words(command)
        return command

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)
        keep_simple(params)
        return params

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help without loading the listed commands."""
        with self._listed():
            return super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete names without loading the commands."""
        with self._listed():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _listed(self) -> Iterator[None]:
        """Replace commands that are loaded on demand with outlines during the block."""
        whole = self.commands
        if isinstance(whole, OnDemand):
            self.commands = dict(whole.outlines())
        try:
            yield
        finally:
            self.commands = whole


FORMAT = "format_"
METAVARS = {"int": "N", "float": "NUMBER", "str": "TEXT", "pathlib.Path": "PATH"}
"""Metavar of an option that declares none, by the type of its value."""


MOST_SEED = 2**64 - 1
"""Largest seed, which the help does not print: it would fill a line without being useful."""


def without_type(ctx: Any) -> str:
    """Return no type for an argument whose metavar describes its values."""
    return ""


def without_range() -> None:
    """Return no range for a number without bounds."""
    return


def in_plain_words(command: Any) -> None:
    """Make the help of a command show an option's value as a word (`N`, not `<int range>`), without types and bounds
    that add nothing, and its epilog as lines."""
    for param in command.params:
        is_flag = getattr(param, "is_flag", False)
        if param.param_type_name == "option" and not param.metavar and not is_flag:
            kind = str(param.type_descriptor.annotation)
            param.metavar = METAVARS.get(kind.removeprefix("<class '").removesuffix("'>").split(" | ")[0])
        if param.param_type_name == "argument" and param.metavar:
            param.display_type_rich = without_type
        if getattr(param, "max", None) == MOST_SEED:
            param._get_number_range_help_str = without_range
    if command.epilog and "\b" not in command.epilog:
        command.epilog = plain_epilog(command.epilog)


Format = StrEnum("Format", {name: name for name in ("table", *FORMATS, "json")})  # type: ignore[misc]
"""Formats of tables."""


def format_option() -> Any:
    """Return the option `--format`, which `Commands.resolve_command` handles: commands do not see it."""
    only = typer.Typer(add_completion=False)

    @only.command()
    def command(
        format_: Annotated[
            Format | None, typer.Option("--format", help="How tables are printed; json is --json.", show_default=False)
        ] = None,
    ) -> None:
        """Declare the option `--format`."""

    (option,) = (param for param in typer.main.get_command(only).params if param.name == FORMAT)
    option.expose_value = False
    return option


class _Stopped(Exception):
    """Ctrl-C in a command."""


def refused(text: str) -> int:
    """Print the mistake; return the exit code."""
    say(f"hotband: error: {text}")
    return 2


def of_request() -> int:
    """Report that the user ended the command; return the exit code."""
    say("hotband: interrupted")
    return INTERRUPTED


def of_library(error: Exception) -> int:
    """Print what typer or another library raised; return the exit code. Faults of Hotband are raised again."""
    if was_interrupted():
        return of_request()
    # typer's own: their types are private to it, what they say of themselves is not.
    if not hasattr(error, "format_message"):
        raise error
    if "help" in type(error).__name__.lower():
        sys.stderr.write(f"{error.format_message()}\n")
        return 2
    return refused(shortened(of_typer(error), LONGEST))


def without_reader(end: SystemExit) -> int:
    """Return the exit code after typer or rich ended the command: 0 if the reader of the output ended, as `head`
    does."""
    if isinstance(end.__context__, OSError) and end.__context__.errno == errno.EPIPE:
        leave_stdout()
        return 0
    raise end


def leave_stdout() -> None:
    """Discard remaining output for a closed stdout, about which the interpreter would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def options_of(command: Any) -> list[str]:
    """Return the options of a command as written, long and short."""
    of_params = (param for param in command.params if param.param_type_name == "option")
    return [name for param in of_params for name in (*param.opts, *param.secondary_opts)]


def corrected(command: Any, arguments: Sequence[str]) -> list[str]:
    """Return the arguments with current options for old names and for those spelled with an underscore."""
    if hasattr(command, "commands") or command.context_settings.get("ignore_unknown_options"):
        return list(arguments)
    known = options_of(command)
    return slips.spelled(with_current_options(arguments, known), known)


def refuse_slips(command: Any, ctx: Any, args: Sequence[str]) -> str | None:
    """Return the format of tables in the arguments. Raises UserError for an option of another tool, for a repeated
    option with a single value (the first would be dropped silently), for an empty path, as from an unset shell variable
    (it would mean the current folder), for several values where only one can run, and for two formats."""
    sub = typer.Context(command, info_name=command.name, parent=ctx, resilient_parsing=True)
    if not hasattr(command, "commands") and not command.context_settings.get("ignore_unknown_options"):
        takes_workload = any(param.name in ("workload", "workloads") for param in arguments_of(command))
        slips.expect_options(sub.command_path, args, options_of(command), takes_workload)
    values, left, order = command.make_parser(sub).parse_args(list(args))
    slips.expect_no_file(args, left)
    if command.name == "run":
        slips.expect_plain(args, values.get("settings") or ())
    counts = Counter(id(param) for param in order)
    for param in order:
        takes_one = param.param_type_name == "option" and not param.multiple and not param.is_flag
        if takes_one and counts[id(param)] > 1:
            name = place_of(param)
            is_sweep = command.name == "run" and name == "--on"
            accepted = slips.several_machines(args) if is_sweep else "is given twice; expected it once"
            raise UserError(name, "", "", accepted)
        value = values.get(param.name)
        is_path = getattr(param, "type_descriptor", None) and param.type_descriptor.annotation in (Path, list[Path])
        if is_path and "" in (value if isinstance(value, list | tuple) else (value,)):
            raise UserError(place_of(param), "", "", "is empty; expected a path")
    form = values.get(FORMAT)
    if form not in (None, "json") and values.get("as_json"):
        raise UserError("--format", "", str(form), "and --json are two formats; expected one of them")
    return None if form is None else str(form)


def arguments_of(command: Any) -> list[Any]:
    """Return the parameters of a command that are arguments."""
    return [param for param in command.params if param.param_type_name == "argument"]


def option(field: str) -> str:
    """Return the option of a field: `--slo-degraded` for slo_degraded."""
    return f"--{field.replace('_', '-')}"


def parameter(command: Any, field: str) -> str:
    """Return a field as the user of a command writes it: its option, or the name of its argument."""
    params = [param for param in command.params if field == param.name.rstrip("_") or option(field) in param.opts]
    return place_of(params[0]) if params else option(field)


def place_of(param: Any) -> str:
    """Return a parameter as the user writes it: its long option, or the name of an argument."""
    if param.param_type_name == "option":
        return str(max(param.opts, key=len))
    return str(param.metavar or param.name.upper()).strip("[].")


def of_typer(error: Any) -> str:
    """Return an error of typer as one line in our form: place, text, and accepted values."""
    kind, param = type(error).__name__, getattr(error, "param", None)
    if kind == "NoSuchOption":
        known = [
            max(parameter.opts, key=len)
            for parameter in error.ctx.command.params
            if parameter.param_type_name == "option"
        ]
        return slips.unknown_option(error.ctx.command_path, error.option_name, known)
    if kind == "BadOptionUsage":
        return f"{error.option_name}: expected a value after it"
    if kind == "MissingParameter" and param is not None:
        what = f": {param.help[0].lower()}{param.help[1:].rstrip('.')}" if param.help else ""
        return slips.missing(error.ctx.command_path, error.ctx.command.epilog, place_of(param), what)
    if param is not None:
        wrong, accepted = wrong_value(error, param)
        return str(UserError(place_of(param), "", wrong, accepted))
    text = " ".join(error.format_message().split())
    return f"{text[:1].lower()}{text[1:]}"


def wrong_value(error: Any, param: Any) -> tuple[str, str]:
    """Return the text given for a parameter, and its accepted values."""
    cause: Any = error.__cause__
    problems = cause.errors() if hasattr(cause, "errors") else []
    if not problems:
        return "", " ".join(error.message.split())
    kind, problem = str(problems[0]["type"]), str(problems[0]["input"])
    choices = param.type_descriptor.choices
    if choices:
        return problem, f"expected one of {', '.join(str(getattr(choice, 'value', choice)) for choice in choices)}"
    if kind.startswith(("int_", "float_", "greater_", "less_", "finite_")):
        option = param.type_descriptor.parameter_info
        number = "a whole number" if "int" in str(param.type_descriptor.annotation) else "a number"
        return problem, f"expected {bounded(number, option.min, option.max)}"
    return problem, " ".join(str(problems[0]["msg"]).split())


def bounded(what: str, least: float | None, most: float | None) -> str:
    """Describe a number with its bounds, except for those of a 32- or 64-bit number."""
    if most is not None and most < 2**32 - 1:
        return f"{what} from {least} to {most}" if least is not None else f"{what} of at most {most}"
    return what if least is None else f"{what}, {least} or more"
