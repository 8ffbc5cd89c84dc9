import os
import signal
import sys

from well_behaved import main

if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()
sys.stdout.flush()
main()
