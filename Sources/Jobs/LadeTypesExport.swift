// A program that links the library names the words of its signatures without another import.
@_exported public import LadeTypes
