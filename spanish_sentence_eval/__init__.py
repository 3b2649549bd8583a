"""Spanish SentEval and DiscoEval: sentence vectors judged on 32 tasks."""
