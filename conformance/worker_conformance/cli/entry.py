"""The entry point: dispatches to a command, and turns whatever ends it into an exit code.

0 passed, 1 not passed, 2 called wrongly, 3 adapter broken, 4 suite error. A person's mistake is
told in two lines, never by a traceback; a fault of the suite in three, the traceback in a file.
"""

import difflib
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress

import click

from worker_conformance import __version__
from worker_conformance.cli import (
    bench,
    browse,
    claiming,
    comparing,
    doctor,
    init,
    known_failures,
    lint,
    new_vector,
    promote,
    replay,
    run,
    selftest,
    soak,
)
from worker_conformance.errors import (
    EXIT_SUITE,
    EXIT_USAGE,
    AdapterError,
    SuiteFailure,
    UsageError,
    render,
)

PROGRAM = "worker-conformance"
EXIT_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells write it
EXIT_PIPE = 141  # 128 and the number of SIGPIPE


class _Commands(click.Group):
    """The commands; a mistyped one is answered with the nearest."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            near = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            known = f"known: {', '.join(self.list_commands(ctx))}"
            hint = f"did you mean '{near[0]}'?" if near else known
            raise UsageError("no-such-command", f"there is no command '{name}'", hint)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 passed, 1 not passed, 2 called wrongly, 3 adapter broken, 4 suite error.",
)
@click.version_option(__version__, prog_name=PROGRAM)
@click.pass_context
def app(context: click.Context) -> int | None:
    """Judge a MissionWeaveProtocol 0.1 Worker by what it does."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        return EXIT_USAGE
    return None


for _command in (
    run.run,
    known_failures.baseline,
    claiming.claim,
    claiming.verify,
    comparing.compare,
    claiming.badge,
    browse.list_checks,
    browse.explain,
    replay.replay,
    new_vector.new_vector,
    promote.promote,
    lint.lint,
    doctor.doctor,
    init.init,
    selftest.selftest,
    soak.soak,
    bench.bench,
):
    app.add_command(_command)


def main() -> None:
    """Run the command line of this process and exit."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            # A terminal that lacks a character shows another; it is no reason to stop.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a file has it
    sys.exit(call(sys.argv[1:]))


def call(arguments: Sequence[str], engine: object = None) -> int:
    """Run the command in `arguments` and return its exit code; tests bring their own `engine`."""
    try:
        code = app.main(list(arguments), prog_name=PROGRAM, standalone_mode=False, obj=engine)
    except click.UsageError as error:
        return _tell(_our_own(error))
    except click.ClickException as error:
        return _tell(UsageError("usage", error.format_message()))
    except SuiteFailure as failure:
        return _tell(failure)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; nothing was reported", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; Python must not try to flush the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE
    except Exception as error:  # noqa: BLE001 - the last resort: a fault of ours becomes exit code 4
        return _tell_fault(error)
    return code if isinstance(code, int) else 0


def _tell(failure: SuiteFailure) -> int:
    click.echo(render(failure), err=True)
    if isinstance(failure, AdapterError):
        click.echo(f"  '{PROGRAM} doctor SPEC' examines an adapter point by point", err=True)
    return failure.exit_code


def _our_own(error: click.UsageError) -> UsageError:
    """Say click's complaint as the suite says its own: with a cause and a hint."""
    near: Sequence[str] = getattr(error, "possibilities", None) or ()
    path = error.ctx.command_path if error.ctx else PROGRAM
    hint = f"did you mean '{near[0]}'?" if near else f"'{path} --help' tells what it takes"
    message = error.message if near else error.format_message()
    return UsageError("usage", message[:1].lower() + message[1:].rstrip("."), hint)


def _tell_fault(error: Exception) -> int:
    with tempfile.NamedTemporaryFile(
        "w", prefix="worker-conformance-", suffix=".txt", encoding="utf-8", delete=False
    ) as file:
        traceback.print_exception(error, file=file)
    told = f"{type(error).__name__}: {error}".split("\n", 1)[0]
    click.echo(f"suite error [unexpected]: {told}", err=True)
    click.echo(f"  traceback: {file.name}", err=True)
    click.echo("  This is a fault of the suite, not of the Worker: please report it.", err=True)
    return EXIT_SUITE
