"""Mathematics over arrays: no ids, no files, no estimators.

The paper's symbols, used throughout this package (rows are users or documents, columns are items or words):

==========  ==================================================================  ===========
here        meaning                                                             shape
==========  ==================================================================  ===========
``lam``     lambda_s, the weight of topic s                                     (k,)
``p``       p_si, how likely topic s is to rate item i (to choose keyword i)    (n, k)
``c``       c_si, the mean rating (frequency) of item i in topic s              (n, k)
``var``     sigma_si^2, its variance                                            (n, k)
``mu``      mu_sj, the posterior of topic s for row j                           (m, k)
``x``       x_ji, the indicator: which entries are rated (are keywords)         structure
``q``       q_s, the number of keywords of topic s (text only)                  (k,)
==========  ==================================================================  ===========

Tables are column-major in the paper (topic by item) and item-major here: the loop over topics is the innermost
one everywhere, and its numbers then lie side by side in memory.
"""
