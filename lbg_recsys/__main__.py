"""``python -m lbg_recsys`` is the ``lbg-recsys`` command."""

from lbg_recsys.cli import main

if __name__ == "__main__":
    main()
