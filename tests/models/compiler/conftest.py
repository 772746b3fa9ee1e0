"""Chapters of these tests import what is beside this file: pytest puts its folder on the path."""
