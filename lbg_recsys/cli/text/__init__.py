"""``lbg-recsys text``: cluster documents, select their words, classify them; one file per command."""

import click

from lbg_recsys.cli.text.apply import apply
from lbg_recsys.cli.text.classify import classify
from lbg_recsys.cli.text.cluster import cluster
from lbg_recsys.cli.text.select import select


@click.group()
def text() -> None:
    """Cluster, select and classify with the text models.

    DOCUMENTS are a folder of text files (with one subfolder per class, if classes are known), a table (CSV, TSV or
    with semicolons) with a column of texts and perhaps one of labels, an svmlight file of word frequencies, or the
    name of a data set of texts: 20newsgroups, r8, r52, imdb or sms-spam. Results name the documents of a folder by
    their files. They name those of a table by its column id or document, if its values are all different, and
    otherwise by the numbers of the rows.

    \b
    Examples:
      lbg-recsys text cluster docs -k 2
      lbg-recsys text select docs -n 20
      lbg-recsys text classify docs
    """


for _command in (cluster, select, classify, apply):
    text.add_command(_command)
