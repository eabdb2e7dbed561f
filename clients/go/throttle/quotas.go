package throttle

import (
	"regexp"
	"strings"
)

// Structured fields (RFC 9651), as far as RateLimit and RateLimit-Policy need them.
var (
	itemName = regexp.MustCompile(
		`^(?:"((?:[ !#-\[\]-~]|\\["\\])*)"|([A-Za-z*][!#$%&'*+.^_` + "`" + `|~0-9A-Za-z:/-]*)|(-?[0-9]{1,15}))`)
	parameterName  = regexp.MustCompile(`^ *; *([a-z*][a-z0-9_.*-]*)`)
	parameterValue = regexp.MustCompile(`^=("(?:[ !#-\[\]-~]|\\["\\])*"|:[A-Za-z0-9+/=]*:|\?[01]` +
		`|-?[0-9]{1,12}\.[0-9]{1,3}|-?[0-9]{1,15}|[A-Za-z*][!#$%&'*+.^_` + "`" + `|~0-9A-Za-z:/-]*)`)
	integer = regexp.MustCompile(`^[0-9]{1,15}$`)
	draft7  = regexp.MustCompile(`^[a-z]+=[0-9]{1,15}(?:[ \t]*,[ \t]*[a-z]+=[0-9]{1,15})*$`)
)

type item struct {
	name       string
	parameters map[string]string
}

// parseItems reads a list of names with parameters: `"burst";r=0;t=2, "daily";r=900`. It is nil if it is malformed.
func parseItems(text string) []item {
	var items []item
	for {
		m := itemName.FindStringSubmatch(text)
		if m == nil {
			return nil
		}
		text = text[len(m[0]):]
		found := item{m[1] + m[2] + m[3], map[string]string{}}
		for {
			name := parameterName.FindStringSubmatch(text)
			if name == nil {
				break
			}
			text = text[len(name[0]):]
			value := "?1"
			if strings.HasPrefix(text, "=") {
				v := parameterValue.FindStringSubmatch(text)
				if v == nil {
					return nil
				}
				text, value = text[len(v[0]):], v[1]
				isNumber := value[0] == '-' || value[0] >= '0' && value[0] <= '9'
				if isNumber && text != "" && strings.IndexByte("0123456789.", text[0]) >= 0 {
					return nil // More digits than a number may have.
				}
			}
			found.parameters[name[1]] = value
		}
		items = append(items, found)
		text = strings.TrimLeft(text, " \t")
		if text == "" {
			return items
		}
		if text[0] != ',' {
			return nil
		}
		text = strings.TrimLeft(text[1:], " \t")
	}
}

func whole(text string) (int64, bool) {
	if !integer.MatchString(text) {
		return 0, false
	}
	return number(text), true
}

// ietfQuotas reads RateLimit: a list of RFC 9651, or the dictionary of draft 7.
func ietfQuotas(known fields) []quota {
	text := known["ratelimit"]
	if draft7.MatchString(text) {
		members := map[string]string{}
		for _, member := range strings.Split(text, ",") {
			name, value, _ := strings.Cut(strings.Trim(member, " \t"), "=")
			members[name] = value
		}
		remaining, ok := whole(members["remaining"])
		if !ok {
			return nil
		}
		reset, _ := whole(members["reset"])
		return []quota{{remaining, reset * 1000}}
	}
	windows := map[string]int64{}
	for _, policy := range parseItems(known["ratelimit-policy"]) {
		windows[policy.name], _ = whole(policy.parameters["w"])
	}
	var quotas []quota
	for _, limit := range parseItems(text) {
		remaining, ok := whole(limit.parameters["r"])
		if !ok {
			continue
		}
		seconds, ok := whole(limit.parameters["t"])
		if !ok {
			seconds = windows[limit.name]
		}
		quotas = append(quotas, quota{remaining, seconds * 1000})
	}
	return quotas
}

// pair names the field with what remains, and the fields with the reset: the first that is readable counts.
type pair struct {
	remaining string
	resets    []string
}

var families = []struct {
	name  string
	pairs []pair
}{
	{"ratelimit-fields", []pair{{"ratelimit-remaining", []string{"ratelimit-reset"}}}},
	{"anthropic", []pair{
		{"anthropic-ratelimit-requests-remaining", []string{"anthropic-ratelimit-requests-reset"}},
		{"anthropic-ratelimit-tokens-remaining", []string{"anthropic-ratelimit-tokens-reset"}},
		{"anthropic-ratelimit-input-tokens-remaining", []string{"anthropic-ratelimit-input-tokens-reset"}},
		{"anthropic-ratelimit-output-tokens-remaining", []string{"anthropic-ratelimit-output-tokens-reset"}},
	}},
	{"openai", []pair{
		{"x-ratelimit-remaining-requests", []string{"x-ratelimit-reset-requests"}},
		{"x-ratelimit-remaining-tokens", []string{"x-ratelimit-reset-tokens"}},
	}},
	{"x-ratelimit", []pair{{"x-ratelimit-remaining", []string{"x-ratelimit-reset-after", "x-ratelimit-reset"}}}},
	{"x-rate-limit", []pair{{"x-rate-limit-remaining", []string{"x-rate-limit-reset"}}}},
}

// quotasOf is the family of quota fields that counts, and its quotas; "" and none if there is none.
// If a limit refused the request, a reset without a remaining number means that nothing remains.
func quotasOf(known fields, refused bool, serverNowMs, nowMs int64) (string, []quota) {
	if age, _ := units(known["age"]); age > 0 {
		return "", nil
	}
	if quotas := ietfQuotas(known); quotas != nil {
		return "ratelimit", quotas
	}
	for _, family := range families {
		var quotas []quota
		for _, pair := range family.pairs {
			remaining, readable := units(known[pair.remaining])
			if !readable && !refused {
				continue
			}
			reset := int64(0)
			for _, name := range pair.resets {
				if reset = resetInMs(known[name], serverNowMs, nowMs); reset != 0 {
					break
				}
			}
			if readable || reset != 0 {
				quotas = append(quotas, quota{remaining, reset})
			}
		}
		if quotas != nil {
			return family.name, quotas
		}
	}
	return "", nil
}

// resetMs is the latest reset among the quotas with at most headroom units.
func resetMs(quotas []quota, headroom int64) int64 {
	latest := int64(0)
	for _, q := range quotas {
		if q.remaining <= headroom {
			latest = most(latest, q.resetMs)
		}
	}
	return latest
}
