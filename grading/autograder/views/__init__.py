"""What people are shown: reports, exports, feedback and Formgrader pages."""
