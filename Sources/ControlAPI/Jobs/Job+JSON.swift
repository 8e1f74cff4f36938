import FoundationEssentials

extension Job {
  /// The job as JSON, as it goes over the wire.
  package func json() throws -> [UInt8] {
    var text = JSONObjectText(capacity: 768)
    text.member(CodingKeys.id, id)
    text.member(CodingKeys.kind, kind)
    text.member(CodingKeys.lane, lane)
    text.member(CodingKeys.state, state.rawValue)
    text.member(CodingKeys.priority, priority)
    text.member(CodingKeys.store, store)
    text.member(CodingKeys.entity, entity)
    if let mode { text.member(CodingKeys.mode, mode.rawValue) }
    if let recipe { text.member(CodingKeys.recipe, recipe) }
    text.member(CodingKeys.source, source)
    text.member(CodingKeys.submittedAt, WireFormat.text(of: submittedAt))
    text.member(CodingKeys.availableAt, WireFormat.text(of: availableAt))
    if let startedAt { text.member(CodingKeys.startedAt, WireFormat.text(of: startedAt)) }
    if let endedAt { text.member(CodingKeys.endedAt, WireFormat.text(of: endedAt)) }
    text.member(CodingKeys.attempt, attempt)
    text.member(CodingKeys.maxAttempts, maxAttempts)
    if let submittedBy { text.member(CodingKeys.submittedBy, submittedBy) }
    if let tags { text.member(CodingKeys.tags, json: try WireFormat.encode(tags)) }
    if let isHeld { text.member(CodingKeys.isHeld, isHeld) }
    if let isCancelRequested { text.member(CodingKeys.isCancelRequested, isCancelRequested) }
    if let uniqueKey { text.member(CodingKeys.uniqueKey, uniqueKey) }
    if let batch { text.member(CodingKeys.batch, batch) }
    if let deadline { text.member(CodingKeys.deadline, WireFormat.text(of: deadline)) }
    if let timeout { text.member(CodingKeys.timeout, json: try WireFormat.encode(timeout)) }
    if let after { text.member(CodingKeys.after, json: try WireFormat.encode(after)) }
    if let waitsFor { text.member(CodingKeys.waitsFor, waitsFor) }
    if let failureCode { text.member(CodingKeys.failureCode, failureCode) }
    if let rescues { text.member(CodingKeys.rescues, rescues) }
    text.member(CodingKeys.progress, json: progress.json())
    if let reason { text.member(CodingKeys.reason, reason) }
    if let note { text.member(CodingKeys.note, note) }
    if let rejectsFile { text.member(CodingKeys.rejectsFile, rejectsFile) }
    if let transitions { text.member(CodingKeys.transitions, json: try WireFormat.encode(transitions)) }
    text.end()
    return text.bytes
  }
}

extension JobProgress {
  fileprivate func json() -> [UInt8] {
    var text = JSONObjectText(capacity: 192)
    text.member(CodingKeys.bytesDone, bytesDone)
    text.member(CodingKeys.bytesTotal, bytesTotal)
    text.member(CodingKeys.records, records)
    text.member(CodingKeys.inserted, inserted)
    text.member(CodingKeys.updated, updated)
    text.member(CodingKeys.unchanged, unchanged)
    text.member(CodingKeys.deleted, deleted)
    text.member(CodingKeys.rejected, rejected)
    text.member(CodingKeys.skipped, skipped)
    if let phase { text.member(CodingKeys.phase, phase) }
    text.end()
    return text.bytes
  }
}
