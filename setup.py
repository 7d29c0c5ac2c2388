"""What setup.cfg cannot say: where the README's links lead on a package index. All else stands there."""
import re
from configparser import ConfigParser
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
config = ConfigParser()
config.read(HERE / "setup.cfg", encoding="utf-8")
url = config["metadata"]["url"]
readme = re.sub(r"\]\((?!\w+:)", f"]({url}/blob/main/", (HERE / "README.md").read_text("utf-8"))

setup(long_description=re.sub(r"(!\[[^]]*\]\([^)]*)/blob/", r"\1/raw/", readme), project_urls={
    "Source": url, "Documentation": f"{url}/blob/main/docs/index.md", "Changelog": f"{url}/blob/main/CHANGELOG.md",
    "Issues": f"{url}/issues"})
