"""pend_resolve: why did this claim pend, and what now?"""
