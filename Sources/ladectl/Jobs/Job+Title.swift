import ControlAPI

extension Job {
  /// What people know a job by beside its number: its file, or else what it does to what.
  var title: String {
    guard source.isEmpty else { return source.printable }
    return [kind, store, entity].filter { !$0.isEmpty }.joined(separator: " ").printable
  }
}
