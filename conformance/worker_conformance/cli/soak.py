"""`worker-conformance soak`: generated worlds for as long as one likes, over as many processes.

Opens the store, spreads the worlds, and hands what they came to together to every report. Decides
nothing about verdicts: the exit code is the result's own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worker_conformance.cli.options import (
    color_option,
    console_for,
    jobs_option,
    read_seed,
    restart_option,
    timeout_option,
    worker_option,
)
from worker_conformance.cli.soak_progress import LiveProgress, PlainProgress
from worker_conformance.errors import UsageError
from worker_conformance.port.locate import TCP, with_restart
from worker_conformance.report import html, json_report, junit
from worker_conformance.report.terminal import Detail, print_result

if TYPE_CHECKING:  # `--help` answers without loading the whole suite
    from worker_conformance.judge.verdicts import RunResult
    from worker_conformance.port.declaration import Declaration
    from worker_conformance.suite.soak.campaign import Campaign
    from worker_conformance.suite.soak.cluster import Ending, Limits
    from worker_conformance.suite.soak.store import Store

FOLDER = Path("conformance-soak")
BUDGET_SECONDS = 3_600.0

_BUDGET = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s?)?", re.ASCII)


@click.command(short_help="Judge a Worker over generated worlds for hours, on many processes.")
@worker_option
@restart_option
@click.option(
    "--budget",
    metavar="TIME",
    callback=lambda _, __, text: read_budget(text),
    help="How long, in real time: 90s, 15m, 1h30m (default 1h, or as long as --worlds takes).",
)
@click.option(
    "--worlds",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many worlds in all, those of earlier times included.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="A Dask scheduler, say tcp://host:8786; by default processes of this machine.",
)
@jobs_option("Processes on this machine; the worlds do not depend on it.")
@click.option(
    "--seed",
    metavar="N|random",
    callback=lambda _, __, text: None if text is None else read_seed(text),
    help="The campaign's seed (default: the store's, or a random one).",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    metavar="DIR",
    help="Folder for outcomes, counterexamples and reports; one that exists is gone on with.",
)
@click.option(
    "--world",
    type=click.IntRange(min=0),
    metavar="N",
    help="Play the world of this number again, here, and tell what happens.",
)
@timeout_option
@color_option
def soak(
    worker: str,
    restart: str,
    budget: float | None,
    worlds: int | None,
    cluster: str | None,
    jobs: int,
    seed: int | None,
    store: Path,
    world: int | None,
    timeout: float,
    no_color: bool | None,  # noqa: FBT001 - click hands flags over by name
) -> int:
    """Judge a Worker over generated worlds, for hours, on many processes.

    A world follows from the campaign's seed and its number alone. What has been played is kept, so
    that the same command goes on where it ended; Ctrl-C ends it in order.
    """
    from worker_conformance.suite.engine import RunOptions, introduced
    from worker_conformance.suite.soak.campaign import Campaign
    from worker_conformance.suite.soak.cluster import (
        Limits,
        refuse_bad_address,
        refuse_without_dask,
    )
    from worker_conformance.suite.soak.store import Store

    spec = with_restart(worker, restart)
    if world is None:
        refuse_without_dask()
    if worker.startswith(TCP) and cluster is not None:
        cause = "a server is played with from one process alone, and a cluster has many"
        raise UsageError("tcp-cluster", cause, "leave out --cluster, or name 'stdio:<command>'")
    if world is None and cluster is not None:
        refuse_bad_address(cluster)
    chosen = _seed(seed, store, needed=world is not None)
    declaration, transport = introduced(RunOptions(spec, timeout_seconds=timeout))
    campaign = Campaign.of(spec, declaration, chosen, timeout)
    if world is not None:
        result = _one_again(campaign, world, declaration, transport, store)
        console = console_for(no_color=no_color)
        print_result(console, result, (), Detail.VERBOSE)
        console.print(f"world {world} of campaign {chosen}; its own seed {campaign.seed_of(world)}")
        return result.exit_code()
    limits = Limits(BUDGET_SECONDS if budget is None and worlds is None else budget, worlds)
    jobs = 1 if worker.startswith(TCP) else jobs  # one server cannot crash for one job alone
    with Store(store, campaign) as kept:
        _prepare(store)
        ending = _play(kept, limits, cluster, jobs, no_color=no_color)
        return _report(kept, declaration, transport, ending, no_color=no_color)


def read_budget(text: str | None) -> float | None:
    """Return seconds: `90s`, `15m`, `1h30m`, or a bare number of seconds. None for None."""
    if text is None:
        return None
    found = _BUDGET.fullmatch(text)
    hours, minutes, seconds = (int(one or 0) for one in found.groups()) if found else (0, 0, 0)
    total = hours * 3_600 + minutes * 60 + seconds
    if total == 0:
        raise UsageError("budget", f"'{text}' is no length of time", "write 90s, 15m or 1h30m")
    return float(total)


def _seed(given: int | None, folder: Path, *, needed: bool) -> int:
    from worker_conformance.suite.soak.store import campaign_in

    if given is not None:
        return given
    known = campaign_in(folder)
    if known is None and needed:
        cause = f"which campaign? There is none in '{folder}', and no seed is given"
        raise UsageError("no-campaign", cause, "name its seed with --seed, or its --store")
    return read_seed("random") if known is None else known.seed


def _one_again(
    campaign: Campaign, number: int, declaration: Declaration, transport: str, folder: Path
) -> RunResult:
    """Play one world in this process. The store's outcomes stay as they are."""
    from worker_conformance.suite.soak import merging, store, tally, world

    try:
        outcome = world.play_world(campaign, number)
    finally:
        world.close_benches()
    sums = tally.Tally()
    sums.add(outcome)
    if outcome.flaw is not None:
        store.keep_if_new(folder, outcome)
    return merging.merged(campaign, sums, declaration, transport, folder)


def _play(
    kept: Store, limits: Limits, cluster: str | None, jobs: int, *, no_color: bool | None
) -> Ending:
    from worker_conformance.suite.soak.cluster import Ending, nodes, spread, stopping

    if limits.worlds is not None and kept.tally.numbers.below >= limits.worlds:
        return Ending.COMPLETE  # no node is needed to say so
    console = console_for(no_color=no_color, stderr=True)
    kind = LiveProgress if console.is_terminal else PlainProgress
    with (
        stopping() as stop,
        nodes(cluster, jobs) as client,
        kind(console, kept.tally, limits) as shown,
    ):
        return spread(kept, client, limits, stop, shown.heard)


def _prepare(folder: Path) -> None:
    """Reports of an earlier time go, so that none is taken for this one's."""
    for name in ("report.html", "result.json", "junit.xml"):
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            cause = f"a report cannot be written: {error.strerror or error}"
            raise UsageError(
                "report", cause, "choose another place with --store", str(folder / name)
            ) from None


def _report(
    kept: Store, declaration: Declaration, transport: str, ending: Ending, *, no_color: bool | None
) -> int:
    from worker_conformance.suite.soak.merging import merged

    result = merged(kept.campaign, kept.tally, declaration, transport, kept.folder)
    json_report.write(result, kept.folder / "result.json")
    junit.write(result, kept.folder / "junit.xml", timing=True)
    page = kept.folder / "report.html"
    html.write(result, page, timing=True)
    console = console_for(no_color=no_color)
    print_result(console, result, [page], Detail.NORMAL)
    console.print(f"{kept.tally.worlds} worlds; {ending}")
    return result.exit_code()
