extension LogLine {
  /// Keys of what only sorts a line, and is told by its message where that matters.
  private static let sorting: Set<String> = [
    "lane", "store", "entity", "kind", "recipe", "schedule", "state", "event",
  ]

  /// What belongs to the line and its message doesn't say, as `key=value`, in the order of the keys.
  package var facts: [String] { Self.facts(message, job: job.map { "\($0)" }, metadata) }

  /// The same of a message that isn't a line yet.
  package static func facts(_ message: String, job: String?, _ metadata: [String: String]) -> [String] {
    let others = metadata.filter { $0.key != "job" && !sorting.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\($0.value)" }
    guard let job, !message.hasPrefix("job \(job):") else { return others }
    return ["job=\(job)"] + others
  }
}
