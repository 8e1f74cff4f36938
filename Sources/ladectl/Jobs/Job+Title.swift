import ControlAPI

extension Job {
  /// A title for people: the job's file, or its kind and target.
  var title: String {
    source?.printable ?? [kind, store, entity].compactMap(\.self).joined(separator: " ").printable
  }
}
