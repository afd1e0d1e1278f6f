package qr

// The weights of the four features that make a code hard to scan (ISO/IEC 18004, section 7.8.3).
const (
	runWeight    = 3  // five or more modules of one colour in a line, and 1 for each beyond the fifth
	blockWeight  = 3  // two by two modules of one colour
	finderWeight = 40 // what looks like a finder pattern
	shadeWeight  = 10 // every 5 % away from half dark
)

// The two ways in which eleven modules in a line look like a finder pattern: 1:1:3:1:1 with four light modules on one
// side.
const (
	finderThenLight = 0b10111010000
	lightThenFinder = 0b00001011101
	finderWindow    = 1<<11 - 1
)

// penalty is how hard the code is to scan; the mask with the lowest is to be used.
func (c *Code) penalty() int {
	total, dark := 0, 0
	for i := range c.Size {
		total += c.linePenalty(func(j int) bool { return c.Dark(j, i) })
		total += c.linePenalty(func(j int) bool { return c.Dark(i, j) })
	}
	for y := range c.Size {
		for x := range c.Size {
			d := c.Dark(x, y)
			if d {
				dark++
			}
			if x > 0 && y > 0 && d == c.Dark(x-1, y) && d == c.Dark(x, y-1) && d == c.Dark(x-1, y-1) {
				total += blockWeight
			}
		}
	}
	all := c.Size * c.Size
	return total + shadeWeight*(abs(20*dark-10*all)/all)
}

// linePenalty judges one row or column: its runs and its false finders.
func (c *Code) linePenalty(dark func(int) bool) (penalty int) {
	run, window := 0, 0
	for j := range c.Size {
		d := dark(j)
		if j > 0 && d == dark(j-1) {
			run++
		} else {
			run = 1
		}
		switch {
		case run == 5:
			penalty += runWeight
		case run > 5:
			penalty++
		}
		window = window << 1 & finderWindow
		if d {
			window |= 1
		}
		if j >= 10 && (window == finderThenLight || window == lightThenFinder) {
			penalty += finderWeight
		}
	}
	return penalty
}

func abs(n int) int { return max(n, -n) }
