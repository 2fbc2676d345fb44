//! Structs that kernels take, described once, in Rust.
//!
//! Kernels are compiled at run time, so the structs they take need not be written twice: `device_struct!` makes a Rust
//! struct and the C++ declaration with a `static_assert` against gaps, and the values travel as the bytes of the members in
//! order. Nothing here needs CUDA.

/// A type that Rust and CUDA C++ share.
pub trait DeviceMember {
    /// Bytes.
    const SIZE: usize;
    /// The C++ declaration of a field of this type.
    fn declare(name: &str) -> String;
    /// Appends the value's bytes.
    fn put(&self, bytes: &mut Vec<u8>);
}

macro_rules! device_field {
    ($($T:ty = $name:literal),+) => { $(
        impl DeviceMember for $T {
            const SIZE: usize = size_of::<$T>();
            fn declare(name: &str) -> String { format!(concat!($name, " {}"), name) }
            fn put(&self, bytes: &mut Vec<u8>) { bytes.extend(self.to_ne_bytes()) }
        }
    )+ };
}
device_field!(u32 = "u32", u64 = "u64", i32 = "i32", i64 = "i64", f32 = "float", f64 = "double");

impl<T: DeviceMember, const N: usize> DeviceMember for [T; N] {
    const SIZE: usize = N * T::SIZE;
    fn declare(name: &str) -> String {
        T::declare(&format!("{name}[{N}]"))
    }
    fn put(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|value| value.put(bytes));
    }
}

/// A struct that kernels take, made by [`device_struct!`](crate::device_struct).
pub trait DeviceStruct {
    /// Name, offset and bytes of every member, in their order; of a struct with a base, of those that it adds.
    const MEMBERS: &'static [(&'static str, usize, usize)];
    /// Bytes.
    const SIZE: usize = {
        let (_, offset, bytes) = Self::MEMBERS[Self::MEMBERS.len() - 1];
        offset + bytes
    };
    /// Its C++ declaration under `name`. The fields are those of [`bytes`](Self::bytes), in their order; an assertion on
    /// the size says that the compiler left no gaps between them.
    fn declaration(name: &str) -> String;
    /// Appends its fields in order, without gaps.
    fn append(&self, bytes: &mut Vec<u8>);
    /// Its fields in order, without gaps.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::SIZE);
        self.append(&mut bytes);
        bytes
    }
}

/// Declares a struct for Rust and for kernels. Members are `u32`, `u64`, `i32`, `i64`, `f32`, `f64` and arrays of them; they
/// follow each other without gaps, so those of 8 bytes go where eights divide the bytes before them.
///
/// `struct Name: Base` adds members to those of another struct: in Rust that is the field `base`, in kernels the base class of the
/// same name.
#[macro_export]
macro_rules! device_struct {
    (
        $(#[$doc:meta])* $vis:vis struct $Name:ident $(: $Base:ident)? {
            $($(#[$field_doc:meta])* $field:ident: $T:ty),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        $vis struct $Name { $(pub(crate) base: $Base,)? $($(#[$field_doc])* pub(crate) $field: $T),+ }

        impl $crate::abi::DeviceStruct for $Name {
            const MEMBERS: &'static [(&'static str, usize, usize)] = &{
                let mut members =
                    [$((stringify!($field), 0, <$T as $crate::abi::DeviceMember>::SIZE)),+];
                $(members[0].1 = <$Base as $crate::abi::DeviceStruct>::SIZE;)?
                let mut i = 1;
                while i < members.len() {
                    members[i].1 = members[i - 1].1 + members[i - 1].2;
                    i += 1;
                }
                members
            };

            fn declaration(name: &str) -> String {
                let heading = name.to_owned() $(+ concat!(" : ", stringify!($Base)))?;
                let declare: &[fn(&str) -> String] = &[$(<$T as $crate::abi::DeviceMember>::declare),+];
                $crate::abi::declaration(name, &heading, Self::MEMBERS, declare)
            }
            fn append(&self, bytes: &mut Vec<u8>) {
                $(<$Base as $crate::abi::DeviceStruct>::append(&self.base, bytes);)?
                $($crate::abi::DeviceMember::put(&self.$field, bytes);)+
            }
        }
    };
}
pub(crate) use device_struct;

/// The declaration of a struct with some [members](DeviceStruct::MEMBERS), each of which is [declared](DeviceMember::declare) in its way.
/// Its heading is its name, and its base if it has one.
#[doc(hidden)]
pub fn declaration(
    name: &str,
    heading: &str,
    members: &[(&str, usize, usize)],
    declare: &[fn(&str) -> String],
) -> String {
    let (mut fields, mut size) = (String::new(), 0);
    for (&(member, offset, bytes), declare) in members.iter().zip(declare) {
        fields += &format!("    {};\n", declare(member));
        size = offset + bytes;
    }
    format!("struct {heading} {{\n{fields}}};\nstatic_assert(sizeof({name}) == {size}, \"{name} has gaps\");\n")
}

/// `values` in the first places of eight.
pub(crate) fn padded<T: Copy + Default, const K: usize>(values: [T; K]) -> [T; 8] {
    let mut all = [T::default(); 8];
    all[..K].copy_from_slice(&values);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    device_struct! {
        struct Example { pointer: u64, count: u32, sides: [u32; 3] }
    }
    device_struct! {
        struct Longer: Example { more: u64 }
    }

    #[test]
    fn declarations_carry_the_layout() {
        let text = Example::declaration("Args");
        assert!(text.contains("    u64 pointer;\n    u32 count;\n    u32 sides[3];\n"), "{text}");
        assert!(text.contains("sizeof(Args) == 24"), "{text}");
        let bytes = Example { pointer: 1, count: 2, sides: [3, 4, 5] }.bytes();
        assert_eq!(bytes.len(), 24);
        assert_eq!(bytes[12..16], 3u32.to_ne_bytes());
    }
    #[test]
    fn a_base_comes_first() {
        let text = Longer::declaration("Longer");
        assert!(text.starts_with("struct Longer : Example {\n    u64 more;\n};\n"), "{text}");
        assert!(text.contains("sizeof(Longer) == 32"), "{text}");
        assert_eq!(Longer::MEMBERS, [("more", 24, 8)]);
        let base = Example { pointer: 1, count: 2, sides: [3, 4, 5] };
        assert_eq!(Longer { base, more: 6 }.bytes(), [base.bytes(), 6u64.to_ne_bytes().into()].concat());
    }
}
