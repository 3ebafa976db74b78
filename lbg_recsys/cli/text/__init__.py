"""``lbg-recsys text``: cluster documents, select their words, classify them; one file per command."""

import click

from lbg_recsys.cli.text.apply import apply
from lbg_recsys.cli.text.classify import classify
from lbg_recsys.cli.text.cluster import cluster
from lbg_recsys.cli.text.select import select


@click.group()
def text() -> None:
    """Cluster, select and classify with the text models.

    DOCUMENTS are a folder of text files (in class folders where classes are known), a table (CSV, TSV or with
    semicolons) with a text column (and a label column), an svmlight file of word frequencies, or the name of a data
    set of texts: 20newsgroups, r8, r52, imdb or sms-spam. In results a document of a folder has the name of its file,
    and one of a table its id, if a column called id or document has a different one for each; otherwise the number
    of its row.

    \b
    Examples:
      lbg-recsys text cluster docs -k 2
      lbg-recsys text select docs -n 20
      lbg-recsys text classify docs
    """


for _command in (cluster, select, classify, apply):
    text.add_command(_command)
