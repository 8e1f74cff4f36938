/// How a store keeps values: in this library's forms, or in Core Data's.
///
/// Core Data's are: a date as seconds since 2001, a UUID as 16 bytes, a decimal as the nearest double, and the rest as here.
package enum StoredForms: Sendable, Hashable {
  case own
  case coreData
}
