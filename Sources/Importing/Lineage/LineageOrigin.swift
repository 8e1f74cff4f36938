package import Foundation

/// What is recorded of a job that changes rows: what `ladectl where-from` names.
package struct LineageOrigin: Sendable, Hashable {
  /// The job's number in its queue; 0 without one.
  package var number: Int64 = 0
  package var kind = "import"
  package var recipe = ""
  package var submitter = ""
  package var submitted = Date()
  /// Whether former values are kept, for an undo.
  package var keepsBefore = true
  /// The number of the job that it takes back; 0 if it takes back none.
  package var undoes: Int64 = 0

  package init() {}
}

/// What rows come from.
struct LineageSource {
  /// The file's name as it was submitted; empty for a job without one.
  var name = ""
  /// The member of the archive, or the sheet.
  var inside = ""
  /// The entity that the job is about.
  var entity = ""
}
