import signal

from well_behaved import main

main()
while True:
    signal.pause()
