public import Foundation
public import ManagedObjects

/// Numbers of which there are sums and averages.
public protocol SummableAttribute: AttributeValue {
  /// What a sum is: whole numbers of any size add up to an `Int`.
  associatedtype Sum: AttributeValue & AdditiveArithmetic
  /// What an average is.
  associatedtype Average: AttributeValue
}

extension Int: SummableAttribute {
  /// A double.
  public typealias Average = Double
  /// An `Int`.
  public typealias Sum = Int
}
extension Int16: SummableAttribute {
  /// A double.
  public typealias Average = Double
  /// An `Int`.
  public typealias Sum = Int
}
extension Int32: SummableAttribute {
  /// A double.
  public typealias Average = Double
  /// An `Int`.
  public typealias Sum = Int
}
extension Int64: SummableAttribute {
  /// A double.
  public typealias Average = Double
  /// An `Int`.
  public typealias Sum = Int
}
extension Double: SummableAttribute {
  /// A double.
  public typealias Average = Double
  /// A double.
  public typealias Sum = Double
}
extension Float: SummableAttribute {
  /// A double, as the store adds up.
  public typealias Average = Double
  /// A double, as the store adds up.
  public typealias Sum = Double
}
extension Decimal: SummableAttribute {
  /// A decimal.
  public typealias Average = Decimal
  /// A decimal.
  public typealias Sum = Decimal
}
