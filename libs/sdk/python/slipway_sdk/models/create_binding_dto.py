from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.binding_limits_dto import BindingLimitsDto
    from ..models.binding_target_dto import BindingTargetDto


T = TypeVar("T", bound="CreateBindingDto")


@_attrs_define
class CreateBindingDto:
    """
    Attributes:
        product_id (str):
        target (BindingTargetDto):
        limits (BindingLimitsDto | Unset):
    """

    product_id: str
    target: BindingTargetDto
    limits: BindingLimitsDto | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        product_id = self.product_id

        target = self.target.to_dict()

        limits: dict[str, Any] | Unset = UNSET
        if not isinstance(self.limits, Unset):
            limits = self.limits.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "product_id": product_id,
                "target": target,
            }
        )
        if limits is not UNSET:
            field_dict["limits"] = limits

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.binding_limits_dto import BindingLimitsDto
        from ..models.binding_target_dto import BindingTargetDto

        d = dict(src_dict)
        product_id = d.pop("product_id")

        target = BindingTargetDto.from_dict(d.pop("target"))

        _limits = d.pop("limits", UNSET)
        limits: BindingLimitsDto | Unset
        if isinstance(_limits, Unset):
            limits = UNSET
        else:
            limits = BindingLimitsDto.from_dict(_limits)

        create_binding_dto = cls(
            product_id=product_id,
            target=target,
            limits=limits,
        )

        create_binding_dto.additional_properties = d
        return create_binding_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
