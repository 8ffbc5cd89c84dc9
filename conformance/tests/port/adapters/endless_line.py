from well_behaved import misbehave, send


def flood(_: dict) -> None:
    while True:
        send("[" * 1_000_000)


misbehave("handle", flood)
