package cluster

import "strconv"

// group plans the group's settings but those of dead letters. start is the
// pinning of its offsets, nil if it is not needed.
func (d *drafter) group(start *Change) {
	w, s := d.w, d.f.settings
	d.set(groupReset, s.OffsetReset, startEarliest,
		"nothing is missed of topics that are made later, or again", start)
	if w.Isolation != "" {
		d.set(groupIsolation, s.Isolation, w.Isolation, "share_group.isolation", nil)
	}
	if w.Lock != 0 {
		d.set(groupLock, number(s.Lock.Milliseconds()), millis(w.Lock), "share_group.lock", nil)
	}
	if w.MaxDeliveries != 0 {
		d.set(groupMaxDeliveries, number(int64(s.MaxDeliveries)), strconv.Itoa(w.MaxDeliveries), "share_group.max_deliveries", nil)
	}
	if w.MaxRecordLocks != 0 {
		d.set(groupMaxLocks, number(int64(s.MaxRecordLocks)), strconv.Itoa(w.MaxRecordLocks), "share_group.max_record_locks", nil)
	}
	if !s.Renew {
		d.set(groupRenew, "false", "true", "a record's lock is kept while its POST or back-off outlasts it", nil)
	}
}

// groupLetters plans who writes the group's dead letters. letters is the
// change of the topic that they need, nil if none.
func (d *drafter) groupLetters(letters *Change) {
	w, s := d.w, d.f.settings
	if w.DeadLetterBy != ByBroker {
		d.set(groupDeadLetters, s.DeadLetterTopic, "", "dead letters are written by: "+w.DeadLetterBy, nil)
		return
	}
	// Before the name, so that no dead letter is written the other way.
	d.set(groupCopyRecord, strconv.FormatBool(s.CopyRecord), strconv.FormatBool(w.CopyRecord), "dead_letter.copy_record", nil)
	d.set(groupDeadLetters, s.DeadLetterTopic, w.DeadLetterTopic,
		"the broker drops rejected records of a group that names no dead-letter topic", letters)
}

// set plans a setting of the group unless it has the value already.
func (d *drafter) set(name, have, wish, why string, needs *Change) {
	if have == wish {
		return
	}
	d.add(Change{
		Resource: GroupSetting, Name: d.w.Group, Setting: name, Old: have, New: wish, Why: why,
		unknown: !d.f.settings.known[name], needs: needs,
	})
}
