/* Public types that no function of the library leads to, because a field holds their values as plain numbers or as
 * pointers to void: a function for each, so that the description of the interface (abidw) contains them. */
#include <traceloom/traceloom.h>

void tl_abi_frame(const tl_frame *frame);
void tl_abi_location(const tl_location *location);
void tl_abi_numbers(tl_type type, tl_scope scope, tl_field_role role);
void tl_abi_flags(enum tl_frame_flags frame, enum tl_field_flags field, enum tl_class_flags cls,
                  enum tl_function_flags function, enum tl_damage_kinds damage);

void tl_abi_frame(const tl_frame *frame)
{
    (void)frame;
}

void tl_abi_location(const tl_location *location)
{
    (void)location;
}

void tl_abi_numbers(tl_type type, tl_scope scope, tl_field_role role)
{
    (void)type, (void)scope, (void)role;
}

void tl_abi_flags(enum tl_frame_flags frame, enum tl_field_flags field, enum tl_class_flags cls,
                  enum tl_function_flags function, enum tl_damage_kinds damage)
{
    (void)frame, (void)field, (void)cls, (void)function, (void)damage;
}
