package throttle

import "container/list"

// mostResources is how many are known. The least recently used are forgotten.
const mostResources = 4096

// lru maps names to values, and forgets the least recently used one when there are more than mostResources.
type lru[V any] struct {
	byName map[string]*list.Element
	order  list.List // The most recently used one first.
	inUse  func(V) bool
}

type entry[V any] struct {
	name  string
	value V
}

func (l *lru[V]) get(name string) (V, bool) {
	element, ok := l.byName[name]
	if !ok {
		var none V
		return none, false
	}
	l.order.MoveToFront(element)
	return element.Value.(*entry[V]).value, true
}

func (l *lru[V]) put(name string, value V) {
	if element, ok := l.byName[name]; ok {
		element.Value.(*entry[V]).value = value
		l.order.MoveToFront(element)
		return
	}
	if l.byName == nil {
		l.byName = map[string]*list.Element{}
	}
	l.byName[name] = l.order.PushFront(&entry[V]{name, value})
	for others := l.order.Len() - 1; others > 0 && l.order.Len() > mostResources; others-- {
		oldest := l.order.Back()
		if l.inUse != nil && l.inUse(oldest.Value.(*entry[V]).value) {
			l.order.MoveToFront(oldest)
			continue
		}
		delete(l.byName, l.order.Remove(oldest).(*entry[V]).name)
	}
}
