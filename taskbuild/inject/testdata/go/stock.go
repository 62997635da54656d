// Package stock is a stock of goods.
package stock

// Price is the price of some goods, 0 for none.
func Price(count, each, discount int) int {
	if count <= 0 {
		return 0
	}
	total := count * each
	if count >= 10 && discount > 0 {
		total -= total * discount / 100
	}
	return total
}

// Names returns the goods that are known.
func Names(goods []string, known map[string]bool) []string {
	var found []string
	for _, good := range goods {
		if !known[good] {
			continue
		}
		found = append(found, good)
	}
	return found
}

// Never is not tested.
func Never(count int) int {
	if count > 0 {
		return count + 1
	}
	return count - 1
}
