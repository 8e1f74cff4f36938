package import ManagedObjects

/// What changes with the stored values of an object: its attributes, and what its to-one relationships lead to. It tells whether
/// an object is still as somebody has seen it. It protects against no one who chooses the values.
package enum RowVersion {
  /// The version of an object as its context has it: sixteen digits. On the context's queue.
  package static func text(of object: ManagedObject) -> String {
    let digits = String(RowFingerprint(object.entity).sum(of: object), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
