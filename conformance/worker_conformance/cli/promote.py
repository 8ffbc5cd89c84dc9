"""`worker-conformance promote`: make a counterexample of a generated world a permanent vector.

Tells what was written and what is still a person's work. Decides nothing about the vector.
"""

from pathlib import Path

import click
from rich.text import Text

from worker_conformance.cli.options import (
    color_option,
    console_for,
    folder_of_vectors,
    into_option,
    near,
    restart_option,
    seed_option,
    timeout_option,
    worker_option,
)
from worker_conformance.errors import UsageError
from worker_conformance.port.locate import with_restart


@click.command(short_help="Make a counterexample a permanent vector.")
@worker_option
@restart_option
@seed_option
@timeout_option
@into_option
@color_option
@click.argument("file", type=click.Path(path_type=Path))
def promote(
    worker: str,
    restart: str,
    seed: int,
    timeout: float,
    into: Path | None,
    no_color: bool | None,  # noqa: FBT001 - click hands flags over by name
    file: Path,
) -> int:
    """Give FILE the next ID of its area and write it among the vectors.

    It must fail the Worker it was found in (--worker) and pass the reference Worker.
    """
    from worker_conformance.suite import promotion

    spec = with_restart(worker, restart)
    if not file.is_file():
        hint = "a run saves counterexamples in conformance-report/counterexamples"
        raise UsageError("no-such-file", "there is no such file", hint, str(file))
    done = promotion.promote(file, spec, seed, folder_of_vectors(into), timeout)
    console = console_for(no_color=no_color)
    console.print(Text(f"{done.scenario.id}  {near(done.path)}", "bold green"), soft_wrap=True)
    console.print(
        "Still to do: say in its title and stake what this history shows, write its twin, and run "
        "`worker-conformance lint`.",
        soft_wrap=True,
    )
    return 0
