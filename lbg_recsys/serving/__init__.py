"""Recommendations over HTTP: `lbg_recsys.serving.server.run` is what ``lbg-recsys serve`` calls.

Answers are functions of a loaded model and a request (`answers`); the HTTP layer around them (`app`) is thin.
Starlette and uvicorn are needed only by `app` and `server`: the extra ``serve``.
"""
