"""What came of the automatic mutants, as a page of Markdown.

Reads the results of a campaign and the list of those that are no faults. Never plays anything: the
same files give the same page, byte for byte.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from attrs import frozen

from worker_conformance.errors import UsageError
from worker_conformance.selftest.automatic import EXCUSES, FOLDER, UNDECIDED, Outcome

COMMAND = "python -m worker_conformance.selftest.automatic_page > docs/automatic-mutants.md"
RESULTS = "results.jsonl"

PREFACE = """# Faults that nobody thought of

The mutants of [the kill matrix](kill-matrix.md) were written by hand, each with a fault in mind.
Here a machine changed the reference Worker's own code, one place at a time, and the suite alone
had to notice: a default run that comes to another verdict than for the reference Worker itself.

The places are drawn by chance out of all that Cosmic Ray finds in the package, type annotations
and the command line left out, so the figures are an estimate for all of them. What survives is
one of three things: no fault at all (the code means the same), a fault that no clause forbids or
that cannot be seen at the Port, or a hole in the suite. The first two are listed with the reason;
the third gets a check.

```sh
python -m worker_conformance.selftest.automatic FILE 400 2          # the first 400, two at a time
python -m worker_conformance.selftest.automatic FILE 400 2 second   # what they let live
```

A campaign goes on where it was ended, and refuses to mix results of different code."""


@frozen
class Campaign:
    """What was judged, of which code, and why some survivors are no holes."""

    seed: int
    code: str
    outcomes: Mapping[str, Outcome]
    excuses: Mapping[str, str]

    @property
    def survivors(self) -> list[Outcome]:
        """What the suite did not notice, in the order of names."""
        return sorted(
            (one for one in self.outcomes.values() if not one.noticed), key=lambda one: one.mutant
        )

    @property
    def unexplained(self) -> list[Outcome]:
        """Survivors that nobody has given a reason for: holes, until the contrary is shown."""
        return [one for one in self.survivors if one.mutant not in self.excuses]

    @property
    def faults(self) -> int:
        """How many of the judged are faults at all, as far as is known."""
        return len(self.outcomes) - len(self.survivors) + len(self.unexplained)


def read(folder: Path) -> Campaign:
    """Read a campaign. Raises UsageError where a reason is given for what does not survive."""
    first, *lines = (folder / RESULTS).read_text("utf-8").splitlines()
    header = json.loads(first)
    outcomes = {one.mutant: one for one in (Outcome(**json.loads(line)) for line in lines)}
    excuses = yaml.safe_load((folder / EXCUSES.name).read_text("utf-8")) or {}
    for name in excuses:
        if name not in outcomes or outcomes[name].noticed:
            cause = f"{name} does not survive"
            raise UsageError("excuse", cause, "take it off the list", str(folder / EXCUSES.name))
    return Campaign(header["seed"], header["code"], outcomes, excuses)


def render(campaign: Campaign) -> str:
    """The whole page."""
    parts = [PREFACE, "\n".join(_summary(campaign)), "\n".join(_modules(campaign))]
    parts += ["\n".join(_survivors(campaign))]
    return "\n\n".join(parts) + "\n"


def _summary(campaign: Campaign) -> Iterator[str]:
    judged, faults = len(campaign.outcomes), campaign.faults
    noticed = judged - len(campaign.survivors)
    yield "## Summary"
    yield ""
    yield f"* Code: `{campaign.code}`, places drawn with seed {campaign.seed}."
    yield f"* Judged: {judged}, noticed: {noticed} ({_percent(noticed, judged)})."
    yield f"* Survivors with a reason: {len(campaign.survivors) - len(campaign.unexplained)}."
    waiting = sum(one.verdict == UNDECIDED for one in campaign.unexplained)
    yield f"* Met by the vectors only, the second pass not played: {waiting}."
    yield (
        f"* Without one: {len(campaign.unexplained)}, so {_percent(noticed, faults)} of the faults "
        "are noticed."
    )


def _modules(campaign: Campaign) -> Iterator[str]:
    table: dict[str, list[Outcome]] = {}
    for one in campaign.outcomes.values():
        table.setdefault(one.mutant.partition(":")[0], []).append(one)
    yield "## By module"
    yield ""
    yield "| Module | judged | noticed |"
    yield "|---|---|---|"
    for module, found in sorted(table.items()):
        yield f"| `{module}.py` | {len(found)} | {sum(one.noticed for one in found)} |"


def _survivors(campaign: Campaign) -> Iterator[str]:
    yield "## What survives"
    yield ""
    for one in campaign.survivors:
        open_ = (
            "**the second pass is not played**"
            if one.verdict == UNDECIDED
            else "**no reason known**"
        )
        reason = campaign.excuses.get(one.mutant, open_)
        yield f"* `{one.mutant}`, line {one.line}: {reason}"
        yield ""
        yield "  ```diff"
        yield f"  - {one.before}"
        yield f"  + {one.after}"
        yield "  ```"
        yield ""


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none judged"


def main(_: Sequence[str]) -> int:
    """Print the page of the campaign in the documentation."""
    sys.stdout.write(render(read(FOLDER)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
