"""Selenium's names, from the extra `qa`; MissingExtra says how to install it."""

from __future__ import annotations

from pinakes.extras import missing_extra

try:
    from selenium.common import (
        InvalidSessionIdException,
        JavascriptException,
        NoSuchWindowException,
        UnexpectedAlertPresentException,
        WebDriverException,
    )
    from selenium.webdriver import Chrome, ChromeOptions, Firefox, FirefoxOptions, WebKitGTK
    from selenium.webdriver import WebKitGTKOptions as WebKitOptions
    from selenium.webdriver.chrome.service import Service as ChromeService
    from selenium.webdriver.common.bidi.common import command_builder
    from selenium.webdriver.common.service import Service
    from selenium.webdriver.firefox.service import Service as FirefoxService
    from selenium.webdriver.remote.webdriver import WebDriver
    from selenium.webdriver.webkitgtk.service import Service as WebKitService
except ImportError as error:
    raise missing_extra(f"browsers need {error.name}", "qa") from error

__all__ = [
    "Chrome",
    "ChromeOptions",
    "ChromeService",
    "Firefox",
    "FirefoxOptions",
    "FirefoxService",
    "InvalidSessionIdException",
    "JavascriptException",
    "NoSuchWindowException",
    "Service",
    "UnexpectedAlertPresentException",
    "WebDriver",
    "WebDriverException",
    "WebKitGTK",
    "WebKitOptions",
    "WebKitService",
    "command_builder",
]
