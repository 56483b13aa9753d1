package config

// nearest returns the candidate that a person probably meant, or nothing. A
// third of the letters may be wrong, at least one and at most three.
func nearest(word string, candidates []string) string {
	best, bound := "", min(max(len(word)/3, 1), 3)
	for _, c := range candidates {
		if d := distance(word, c); d <= bound && c != word {
			best, bound = c, d-1
		}
	}
	return best
}

// distance is the number of letters to insert, remove, change or swap with
// their neighbour that makes a into b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a) // no key is that long
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
