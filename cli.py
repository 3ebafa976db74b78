"""Run the command line from a checkout: ``python cli.py --help``."""

from lbg_recsys.cli import main

if __name__ == "__main__":
    main()
