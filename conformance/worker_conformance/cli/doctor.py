"""`worker-conformance doctor`: examine an adapter before judging anything.

Shows what `port.doctor` found. Says nothing about conformance.
"""

import click

from worker_conformance.cli.options import color_option, console_for, finite, restart_option
from worker_conformance.port.doctor import DOCTOR_SECONDS, render_doctor, run_doctor
from worker_conformance.port.locate import with_restart


@click.command(short_help="Examine an adapter: handshake, framing, schemas, its end.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=DOCTOR_SECONDS,
    metavar="S",
    callback=lambda _, __, seconds: finite(seconds),
    help=f"Longest wait for one answer, in real seconds (default {DOCTOR_SECONDS:g}).",
)
@restart_option
@color_option
@click.argument("spec")
def doctor(
    spec: str,
    restart: str,
    timeout: float,
    no_color: bool | None,  # noqa: FBT001 - click hands flags over by name
) -> int:
    """Examine an adapter: handshake, framing, schemas, its end. SPEC as for `run --worker`."""
    report = run_doctor(with_restart(spec, restart), timeout)
    console_for(no_color=no_color).print(render_doctor(report))
    return report.exit_code
