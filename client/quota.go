package client

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Quota is a daily limit that a call counted against, and what is left of it.
type Quota struct {
	Name   string        // whose limit it is, and which, such as key.giftsPerDay
	Unit   string        // what it counts, such as gifts, or minor-units of the account's currency
	Limit  int64         // how many a day
	Left   int64         // of the day's
	Resets time.Duration // until it counts anew
	Window time.Duration // how long the day is
}

// quotas reads RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10). What it cannot read is left
// out: nothing but warnings hangs on it.
func quotas(h http.Header) (all []Quota) {
	left := items(h.Get("RateLimit"))
	for name, of := range items(h.Get("RateLimit-Policy")) {
		is, told := left[name]
		limit, ok := number(of["q"])
		rest, also := number(is["r"])
		if !told || !ok || !also {
			continue
		}
		resets, _ := number(is["t"])
		window, _ := number(of["w"])
		all = append(all, Quota{name, strings.Trim(of["qu"], `"`), limit, rest, seconds(resets), seconds(window)})
	}
	slices.SortFunc(all, func(a, b Quota) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// items are those of a list of strings with parameters (RFC 9651). The service's strings have no quotes, commas or
// semicolons in them.
func items(list string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for item := range strings.SplitSeq(list, ",") {
		name, parameters, _ := strings.Cut(strings.TrimSpace(item), ";")
		of := map[string]string{}
		for parameter := range strings.SplitSeq(parameters, ";") {
			key, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
			of[key] = value
		}
		if name = strings.Trim(name, `"`); name != "" {
			all[name] = of
		}
	}
	return all
}

func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
