package main

import (
	"cmp"
	"math"
	"slices"
)

// result compares two sets of times.
type result struct {
	slower float64 // the probability that one of the first takes longer than one of the second
	floor  float64 // the same, of every other one of the second with the rest of them
	z      float64 // of slower, in standard deviations from a half
}

func compare(first, second []float64) result {
	var even, odd []float64
	for n, t := range second {
		if n%2 == 0 {
			even = append(even, t)
		} else {
			odd = append(odd, t)
		}
	}
	n, m := float64(len(first)), float64(len(second))
	slower := longer(first, second)
	return result{slower, longer(even, odd), (slower - 0.5) / math.Sqrt((n+m+1)/(12*n*m))}
}

// longer is the share of pairs in which a is longer than b, those that are equal counting half: Mann and Whitney's U
// over n times m.
func longer(a, b []float64) float64 {
	type timed struct {
		t     float64
		first bool
	}
	all := make([]timed, 0, len(a)+len(b))
	for _, t := range a {
		all = append(all, timed{t, true})
	}
	for _, t := range b {
		all = append(all, timed{t, false})
	}
	slices.SortFunc(all, func(x, y timed) int { return cmp.Compare(x.t, y.t) })
	pairs, below := 0.0, 0.0
	for i := 0; i < len(all); {
		firsts, seconds := 0.0, 0.0
		j := i
		for ; j < len(all) && all[j].t == all[i].t; j++ {
			if all[j].first {
				firsts++
			} else {
				seconds++
			}
		}
		pairs += firsts * (below + seconds/2)
		below += seconds
		i = j
	}
	return pairs / float64(len(a)*len(b))
}

func median(times []float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
