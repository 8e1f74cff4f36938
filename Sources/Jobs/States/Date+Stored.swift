import Foundation
import ManagedObjects

extension Date {
  /// The time as a store keeps it, to the microsecond: so a job is the same before and after it was read again, and is
  /// due by the store's comparison exactly when it is due by the state machine's.
  var asStored: Date { ISODate.microseconds(of: self).map(ISODate.date(microseconds:)) ?? self }
}
