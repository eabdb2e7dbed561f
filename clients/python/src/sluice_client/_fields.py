"""Reads what header fields say about limits. Nothing here waits, sends or knows a policy.

The rules are those of clients/vectors/README.md, *Which field counts?*
"""

from __future__ import annotations

import calendar
import datetime
import re
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

MOST_MS = 2**53 - 1

_DECIMAL = re.compile(r"([0-9]+)(?:\.([0-9]+))?", re.ASCII)
_SIGNED = re.compile(r"(-?)([0-9]+)(?:\.[0-9]+)?", re.ASCII)
_DURATION = re.compile(
    r"(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m(?!s))?(?:([0-9]+(?:\.[0-9]+)?)s)?(?:([0-9]+(?:\.[0-9]+)?)ms)?", re.ASCII
)
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_MONTHS = {name: number for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}
_MONTH = "(" + "|".join(_MONTHS) + ")"
_FIXDATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) " + _MONTH + r" (\d{4}) (\d\d):(\d\d):(\d\d) GMT", re.ASCII
)
_RFC850 = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-" + _MONTH + r"-(\d\d) (\d\d):(\d\d):(\d\d) GMT", re.ASCII
)
_ASCTIME = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) " + _MONTH + r" ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})", re.ASCII
)


class Quota(NamedTuple):
    """One quota as a response shows it."""

    remaining: int
    reset_ms: int  # Until more is available; 0: unknown, or already.


class Fields(Dict[str, str]):
    """Header fields by lower-case name; several lines of one name are joined as in RFC 9110, 5.3."""

    @classmethod
    def of(cls, pairs: Iterable[Tuple[str, str]]) -> Fields:
        fields = cls()
        for name, value in pairs:
            name, value = name.lower(), value.strip(" \t")
            fields[name] = fields[name] + ", " + value if name in fields else value
        return fields


def decimal_ms(text: str, per_unit: int = 1000) -> Optional[int]:
    """A number of units (seconds, if `per_unit` is 1000) as whole milliseconds, rounded up; None if unreadable."""
    match = _DECIMAL.fullmatch(text)
    if not match:
        return None
    whole, fraction = match.groups()
    if len(whole.lstrip("0")) > 16:
        return MOST_MS
    milliseconds = int(whole) * per_unit
    if fraction:
        fraction = fraction.rstrip("0")
        digits, beyond = fraction[:6], fraction[6:]
        part = int((digits or "0").ljust(6, "0")) * per_unit
        milliseconds += -(-part // 10**6) if not beyond else part // 10**6 + 1
    return min(milliseconds, MOST_MS)


def _epoch(year: int, month: int, day: int, hour: int, minute: int, second: int) -> Optional[int]:
    try:
        datetime.date(year, month, day)
    except ValueError:
        return None
    if hour > 23 or minute > 59 or second > 60:
        return None
    return calendar.timegm((year, month, day, hour, minute, second, 0, 0, 0)) * 1000


def http_date_ms(text: str, now_ms: int) -> Optional[int]:
    """An HTTP-date (RFC 9110, 5.6.7) in Unix milliseconds; `now_ms` decides the century of a two-digit year."""
    match = _FIXDATE.fullmatch(text)
    if match:
        day, month, year, hour, minute, second = match.groups()
        return _epoch(int(year), _MONTHS[month], int(day), int(hour), int(minute), int(second))
    match = _ASCTIME.fullmatch(text)
    if match:
        month, day, hour, minute, second, year = match.groups()
        return _epoch(int(year), _MONTHS[month], int(day), int(hour), int(minute), int(second))
    match = _RFC850.fullmatch(text)
    if match:
        day, month, year, hour, minute, second = match.groups()
        this_year = 1970 + now_ms // (365_2425 * 24 * 360)
        full = this_year - this_year % 100 + int(year)
        full -= 100 if full > this_year + 50 else 0
        return _epoch(full, _MONTHS[month], int(day), int(hour), int(minute), int(second))
    return None


def _rfc3339_ms(text: str) -> Optional[int]:
    match = _RFC3339.fullmatch(text)
    if not match:
        return None
    year, month, day, hour, minute, second, fraction, sign, off_hours, off_minutes = match.groups()
    at = _epoch(int(year), int(month), int(day), int(hour), int(minute), int(second))
    if at is None:
        return None
    if fraction:
        at += decimal_ms("0." + fraction) or 0
    if sign:
        offset = (int(off_hours) * 60 + int(off_minutes)) * 60000
        at += offset if sign == "-" else -offset
    return at


def _duration_ms(text: str) -> Optional[int]:
    match = _DURATION.fullmatch(text)
    if not match or not text:
        return None
    days, hours, minutes, seconds, milliseconds = match.groups()
    total = (int(days or 0) * 24 + int(hours or 0)) * 3600000 + int(minutes or 0) * 60000
    return min(MOST_MS, total + (decimal_ms(seconds or "0") or 0) + (decimal_ms(milliseconds or "0", 1) or 0))


def reset_in_ms(text: str, server_now_ms: int, now_ms: int) -> int:
    """Milliseconds from now until a reset that is written in any of the usual ways; 0 if unreadable or past."""
    number = _DECIMAL.fullmatch(text)
    if number:
        digits = len(number.group(1).lstrip("0"))
        if digits <= 9:  # A time to wait: 10^9 seconds are 31 years.
            return decimal_ms(text) or 0
        if digits <= 11:  # Unix seconds.
            return max(0, (decimal_ms(text) or 0) - server_now_ms)
        if digits <= 14:  # Unix milliseconds.
            return max(0, (decimal_ms(text, 1) or 0) - server_now_ms)
        return 0
    duration = _duration_ms(text)
    if duration is not None:
        return duration
    at = _rfc3339_ms(text)
    if at is None:
        at = http_date_ms(text, now_ms)
    return 0 if at is None else max(0, at - server_now_ms)


def _units(text: Optional[str]) -> Optional[int]:
    """Remaining units: whole ones, and none if the number is negative."""
    match = _SIGNED.fullmatch(text) if text is not None else None
    if not match:
        return None
    return 0 if match.group(1) else int(match.group(2)[:18])


# Structured fields (RFC 9651), as far as RateLimit and RateLimit-Policy need them.
_NAME = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"|([A-Za-z*][!#$%&\'*+.^_`|~0-9A-Za-z:/-]*)|(-?[0-9]{1,15})', re.ASCII)
_PARAMETER = re.compile(
    r' *;[ ]*([a-z*][a-z0-9_.*-]*)(?:=("(?:[ !#-\[\]-~]|\\["\\])*"|:[A-Za-z0-9+/=]*:|\?[01]'
    r"|-?[0-9]{1,12}\.[0-9]{1,3}(?![0-9.])|-?[0-9]{1,15}(?![0-9.])|[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*))?",
    re.ASCII,
)
_INTEGER = re.compile(r"[0-9]{1,15}", re.ASCII)
_DRAFT7 = re.compile(r"[a-z]+=[0-9]{1,15}(?:[ \t]*,[ \t]*[a-z]+=[0-9]{1,15})*", re.ASCII)


def parse_items(text: str) -> Optional[List[Tuple[str, Dict[str, str]]]]:
    """A list of names with parameters: `"burst";r=0;t=2, "daily";r=900`. None if it is malformed."""
    items, at = [], 0
    while True:
        match = _NAME.match(text, at)
        if not match:
            return None
        name = next(group for group in match.groups() if group is not None)
        at, parameters = match.end(), {}
        while True:
            match = _PARAMETER.match(text, at)
            if not match:
                break
            parameters[match.group(1)] = match.group(2) or "?1"
            at = match.end()
        items.append((name, parameters))
        rest = text[at:].lstrip(" \t")
        if not rest:
            return items
        if not rest.startswith(","):
            return None
        at = len(text) - len(rest[1:].lstrip(" \t"))


def _whole(text: Optional[str]) -> Optional[int]:
    return int(text) if text is not None and _INTEGER.fullmatch(text) else None


def _ietf(fields: Mapping[str, str]) -> List[Quota]:
    text = fields.get("ratelimit", "")
    if _DRAFT7.fullmatch(text):
        members = dict(re.split(r"[ \t]*=[ \t]*", member.strip()) for member in text.split(","))
        remaining = _whole(members.get("remaining"))
        return [] if remaining is None else [Quota(remaining, (_whole(members.get("reset")) or 0) * 1000)]
    windows = {name: _whole(p.get("w")) or 0 for name, p in parse_items(fields.get("ratelimit-policy", "")) or ()}
    quotas = []
    for name, parameters in parse_items(text) or ():
        remaining = _whole(parameters.get("r"))
        if remaining is not None:
            seconds = _whole(parameters.get("t"))
            quotas.append(Quota(remaining, (windows.get(name, 0) if seconds is None else seconds) * 1000))
    return quotas


# Family: pairs of the field with what remains and the fields with the reset, the first readable of which counts.
_PAIRS: Dict[str, List[Tuple[str, Tuple[str, ...]]]] = {
    "ratelimit-fields": [("ratelimit-remaining", ("ratelimit-reset",))],
    "anthropic": [
        ("anthropic-ratelimit-%s-remaining" % what, ("anthropic-ratelimit-%s-reset" % what,))
        for what in ("requests", "tokens", "input-tokens", "output-tokens")
    ],
    "openai": [
        ("x-ratelimit-remaining-" + what, ("x-ratelimit-reset-" + what,)) for what in ("requests", "tokens")
    ],
    "x-ratelimit": [("x-ratelimit-remaining", ("x-ratelimit-reset-after", "x-ratelimit-reset"))],
    "x-rate-limit": [("x-rate-limit-remaining", ("x-rate-limit-reset",))],
}


def quotas_of(
    fields: Mapping[str, str], refused: bool, server_now_ms: int, now_ms: int
) -> Tuple[Optional[str], List[Quota]]:
    """The family of quota fields that counts, and its quotas. (None, []) if there is none.

    refused: a limit refused the request, so a reset without a remaining number means that nothing remains.
    """
    age = _units(fields.get("age"))
    if age:
        return None, []
    quotas = _ietf(fields) if "ratelimit" in fields else []
    if quotas:
        return "ratelimit", quotas
    for family, pairs in _PAIRS.items():
        for remaining_name, reset_names in pairs:
            remaining = _units(fields.get(remaining_name))
            if remaining is None and not refused:
                continue
            resets = (reset_in_ms(fields[name], server_now_ms, now_ms) for name in reset_names if name in fields)
            reset = next((value for value in resets if value), 0)
            if remaining is not None or reset:
                quotas.append(Quota(remaining or 0, reset))
        if quotas:
            return family, quotas
    return None, []
