// Package figures shows what is in the books: plots, and the reports of the JSON interface as tables in the words of a
// bookkeeper. It is pure.
package figures

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/money"
	"boon.example/internal/post/locale"
)

// The size of a plot, in its own units: the page makes it as wide as there is room.
const (
	plotWidth, plotHeight = 720.0, 180.0
	plotLeft, plotTop     = 64.0, 12.0
	plotBottom            = plotHeight - 24
)

// Plot is a picture of what was sold and redeemed day by day: bars and a line.
type Plot struct {
	Bars, Line string // paths
	Rules      []Mark // for round amounts
	Months     []Mark // where they begin
}

// Mark is a line or a place in a plot, and what stands beside it.
type Mark struct{ At, Beside, Text string }

// Draw draws days that follow each other, each with what was sold and redeemed in it.
func Draw(days []Day, unit money.Currency, in *locale.Locale) *Plot {
	one := math.Pow10(unit.Decimals)
	var most float64
	for _, d := range days {
		most = max(most, float64(d.Sold)/one, float64(d.Redeemed)/one)
	}
	step := roundStep(most)
	top := max(math.Ceil(most/step), 1) * step
	y := func(units float64) float64 { return plotBottom - max(units, 0)/top*(plotBottom-plotTop) }
	wide := (plotWidth - plotLeft) / float64(len(days))
	p := &Plot{}
	for at := 0.0; at <= top; at += step {
		worth := in.Decimal(strconv.FormatInt(int64(at), 10))
		p.Rules = append(p.Rules, Mark{coordinate(y(at)), coordinate(y(at) + 4), worth})
	}
	var bars, line strings.Builder
	for n, d := range days {
		x := plotLeft + wide*float64(n)
		if high := plotBottom - y(float64(d.Sold)/one); high > 0 {
			fmt.Fprintf(&bars, "M%.1f %.1fv%.1fh%.1fv%.1fz", x, plotBottom, -high, wide*0.7, high)
		}
		fmt.Fprintf(&line, "%c%.1f %.1f", "ML"[min(n, 1)], x+wide*0.35, y(float64(d.Redeemed)/one))
		if d.Date.Day() == 1 && n < len(days)-7 { // else its name would not fit
			p.Months = append(p.Months, Mark{At: coordinate(x), Text: in.DayAndMonth(d.Date)})
		}
	}
	p.Bars, p.Line = bars.String(), line.String()
	return p
}

// Day is what was sold and redeemed in a day.
type Day struct {
	Date           time.Time
	Sold, Redeemed money.Amount
}

// roundStep is a round number of units that goes into the most that is shown two to five times, and at least 1.
func roundStep(most float64) float64 {
	if most < 2 {
		return 1
	}
	power := math.Pow10(int(math.Floor(math.Log10(most / 2))))
	for _, step := range []float64{5, 2} {
		if most/(step*power) >= 2 {
			return step * power
		}
	}
	return power
}

func coordinate(n float64) string { return fmt.Sprintf("%.1f", n) }
