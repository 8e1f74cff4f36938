import ControlAPI

extension Job {
  /// Whether it completed without all of its records.
  var hasRejects: Bool { state == .completed && progress.rejected > 0 }

  /// A title for people: the job's file, or its kind and target.
  var title: String {
    source?.printable ?? [kind, store, entity].compactMap(\.self).joined(separator: " ").printable
  }
}
