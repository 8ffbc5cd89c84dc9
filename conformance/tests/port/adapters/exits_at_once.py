import sys

sys.exit("configuration missing")
