"""Produce reports, exports, feedback pages and Formgrader pages."""
