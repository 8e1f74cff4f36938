import ControlAPI

extension Job {
  /// A title for people: the job's file, or its kind and target.
  var title: String {
    guard source.isEmpty else { return source.printable }
    return [kind, store, entity].filter { !$0.isEmpty }.joined(separator: " ").printable
  }
}
