"""label_restrict: may this spray go on this field?"""
