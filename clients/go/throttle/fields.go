package throttle

import (
	"net/http"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Reads what header fields say about limits. Nothing in this file waits, sends or knows a policy. The rules are those of
// clients/vectors/README.md, "Which field counts?".

const mostMs = 1<<53 - 1

var (
	decimal  = regexp.MustCompile(`^([0-9]+)(?:\.([0-9]+))?$`)
	signed   = regexp.MustCompile(`^(-?)([0-9]+)(?:\.[0-9]+)?$`)
	duration = regexp.MustCompile(
		`^(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+(?:\.[0-9]+)?)s)?(?:([0-9]+(?:\.[0-9]+)?)ms)?$`)
	rfc3339 = regexp.MustCompile(
		`^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$`)
	fixDate = regexp.MustCompile(
		`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{2}) ` + monthName + ` ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT$`)
	rfc850 = regexp.MustCompile(
		`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, ([0-9]{2})-` + monthName + `-([0-9]{2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT$`)
	asctime = regexp.MustCompile(
		`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ` + monthName + ` ([ 0-9][0-9]) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([0-9]{4})$`)
)

const (
	monthName  = `(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`
	monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"
)

// quota is one quota as a response shows it.
type quota struct {
	remaining int64
	resetMs   int64 // Until more is available; 0: unknown, or already.
}

// fields are header fields by lower-case name. Several lines of one name are joined as in RFC 9110, 5.3.
type fields map[string]string

func fieldsOf(header http.Header) fields {
	known := make(fields, len(header))
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	sort.Strings(names) // A header made by hand may have two spellings of a name.
	for _, name := range names {
		lower := strings.ToLower(name)
		for _, value := range header[name] {
			value = strings.Trim(value, " \t")
			if before, ok := known[lower]; ok {
				value = before + ", " + value
			}
			known[lower] = value
		}
	}
	return known
}

// number reads digits that a regular expression has found; "" and blanks count as 0.
func number(text string) int64 {
	value, _ := strconv.ParseInt(strings.TrimLeft(text, " "), 10, 64)
	return value
}

// decimalMs is a number of units (seconds, if perUnit is 1000) as whole milliseconds, rounded up.
func decimalMs(text string, perUnit int64) (int64, bool) {
	match := decimal.FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	whole := number(match[1])
	if whole > mostMs/perUnit {
		return mostMs, true
	}
	ms := whole * perUnit
	if fraction := strings.TrimRight(match[2], "0"); fraction != "" {
		digits := (fraction + "000000")[:6]
		part := number(digits) * perUnit
		if len(fraction) > 6 {
			ms += part/1000000 + 1
		} else {
			ms += (part + 999999) / 1000000
		}
	}
	return least(ms, mostMs), true
}

func epochMs(year, month, day, hour, minute, second int64) (int64, bool) {
	date := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	if year < 1 || int64(date.Month()) != month || int64(date.Day()) != day || hour > 23 || minute > 59 || second > 60 {
		return 0, false
	}
	return date.UnixMilli() + ((hour*60+minute)*60+second)*1000, true
}

func monthOf(name string) int64 { return int64(strings.Index(monthNames, name)/3 + 1) }

// httpDateMs is an HTTP-date (RFC 9110, 5.6.7) in Unix milliseconds. nowMs decides the century of a two-digit year.
func httpDateMs(text string, nowMs int64) (int64, bool) {
	if m := fixDate.FindStringSubmatch(text); m != nil {
		return epochMs(number(m[3]), monthOf(m[2]), number(m[1]), number(m[4]), number(m[5]), number(m[6]))
	}
	if m := asctime.FindStringSubmatch(text); m != nil {
		return epochMs(number(m[6]), monthOf(m[1]), number(m[2]), number(m[3]), number(m[4]), number(m[5]))
	}
	if m := rfc850.FindStringSubmatch(text); m != nil {
		thisYear := int64(time.UnixMilli(nowMs).UTC().Year())
		year := thisYear - thisYear%100 + number(m[3])
		if year > thisYear+50 {
			year -= 100
		}
		return epochMs(year, monthOf(m[2]), number(m[1]), number(m[4]), number(m[5]), number(m[6]))
	}
	return 0, false
}

func rfc3339Ms(text string) (int64, bool) {
	m := rfc3339.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	at, ok := epochMs(number(m[1]), number(m[2]), number(m[3]), number(m[4]), number(m[5]), number(m[6]))
	if !ok {
		return 0, false
	}
	if m[7] != "" {
		fraction, _ := decimalMs("0."+m[7], 1000)
		at += fraction
	}
	offset := (number(m[9])*60 + number(m[10])) * 60000
	if m[8] == "-" {
		return at + offset, true
	}
	return at - offset, true
}

// durationMs reads 1h2m3.5s and 17ms.
func durationMs(text string) (int64, bool) {
	m := duration.FindStringSubmatch(text)
	if m == nil || text == "" {
		return 0, false
	}
	total := int64(0)
	for i, perUnit := range []int64{24 * 3600000, 3600000, 60000, 1000, 1} {
		if m[i+1] == "" {
			continue
		}
		part, _ := decimalMs(m[i+1], perUnit)
		total = least(total+part, mostMs)
	}
	return total, true
}

// resetInMs is how long it is until a reset that is written in any of the usual ways; 0 if unreadable or past.
func resetInMs(text string, serverNowMs, nowMs int64) int64 {
	if m := decimal.FindStringSubmatch(text); m != nil {
		perUnit, from := int64(1000), serverNowMs
		switch digits := len(strings.TrimLeft(m[1], "0")); {
		case digits <= 9: // A time to wait: 10^9 seconds are 31 years.
			from = 0
		case digits <= 11: // Unix seconds.
		case digits <= 14: // Unix milliseconds.
			perUnit = 1
		default:
			return 0
		}
		ms, _ := decimalMs(text, perUnit)
		return most(0, ms-from)
	}
	if ms, ok := durationMs(text); ok {
		return ms
	}
	at, ok := rfc3339Ms(text)
	if !ok {
		if at, ok = httpDateMs(text, nowMs); !ok {
			return 0
		}
	}
	return most(0, at-serverNowMs)
}

// units reads how much remains: whole units, and none if the number is negative.
func units(text string) (int64, bool) {
	m := signed.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	if m[1] != "" {
		return 0, true
	}
	return number(m[2][:least(int64(len(m[2])), 18)]), true
}

func least(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}

func most(a, b int64) int64 {
	if a > b {
		return a
	}
	return b
}
