package wire

// maxAhead bounds what a list gets room for before it has been read, in items.
const maxAhead = 4 << 10

// itemsLeft counts the items to the end of the list in which d stands before one. It judges nothing.
func (d *decoder) itemsLeft() int {
	n, depth := 1, 0
	for i := d.at; i < len(d.text); i++ {
		switch d.text[i] {
		case '"':
			for i++; i < len(d.text) && d.text[i] != '"'; i++ {
				if d.text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth < 0 {
				return n
			}
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return n
}
