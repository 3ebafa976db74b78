"""Names of models as the tables show them: one name per setting.

The keys of results/*.json differ between benchmarks and stay as they are, so that an interrupted run finds its rows.
"""

SHOWN = {
    "bayesian": "Bayesian LBG",
    "bayesian-strong": "Bayesian LBG, strong",
    "bayesian (Bayesian LBG, 4 chains)": "Bayesian LBG",
    "bayesian-strong (Bayesian LBG, 8 long chains)": "Bayesian LBG, strong",
    "Bayesian LBG, 2 chains (gaussian)": "Bayesian LBG, 2 Gaussian chains",
    "lbg": "LBG, 10 topics on biases",
    "lbg (LBG, 10 topics on biases)": "LBG, 10 topics on biases",
    "paper (LBG, 5 topics, mode)": "LBG, the paper's algorithm",
    "myFM ordered probit": "myFM ordered probit, implicit sets",
    "myFM regression": "myFM regression, implicit sets",
    "SVD of Surprise, item by item": "Surprise SVD, item by item",
    "SVD of Surprise, one product of arrays": "Surprise SVD, one product of arrays",
}


def shown(name):
    """The name of a model in tables; that of the results where there is no other."""
    return SHOWN.get(name, name)


def bold_if_ours(name):
    name = shown(name)
    return f"**{name}**" if "LBG" in name else name
